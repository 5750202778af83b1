// Parameters of a launch.
#pragma once
#include "../cuda_program.h"

#include <optix.h>

struct Parameters {
  View view;
  OptixTraversableHandle tree;
};
