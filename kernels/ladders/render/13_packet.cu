// product: render_packet
// shows: samples
#include "../../cuda/render_packet.cu"
