// product: render_packet
// shows: samples
