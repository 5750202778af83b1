// product: render_thread
// shows: samples
