// product: tone
#include "../../cuda/tone.cu"
