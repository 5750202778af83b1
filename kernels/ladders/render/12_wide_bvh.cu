// product: render_thread
// shows: samples
#include "../../cuda/render_thread.cu"
