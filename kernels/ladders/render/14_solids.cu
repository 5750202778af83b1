// product: render_capsules
// shows: samples
// layout: solids
#include "../../cuda/render_capsules.cu"
