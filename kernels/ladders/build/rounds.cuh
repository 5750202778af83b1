// Rounds of tiles in one launch, each after the one before is complete. Blocks take tiles by tickets, in their order: a
// block that waits for a round waits for blocks that run, however few run at once.
#pragma once
#include "../../cuda/bvh/look_back.cuh"

namespace rt {

// In memory that is zero before the launch.
struct Rounds {
  uint64_t current;  // describes the round; zero: the first one
  uint32_t ticket, complete;
};

// Returns the round of the next tile, by one thread. describe(word): a round with `first` of its tickets and `tiles`,
// none when all is done; it gets the `tile`.
template <class Describe> RT_DEVICE auto take_tile(Rounds* rounds, Describe describe) {
  const uint32_t ticket = atomicAdd(&rounds->ticket, 1u);
  for (uint64_t word = load_fresh(&rounds->current);;) {
    __threadfence();
    auto round = describe(word);
    round.tile = ticket - round.first;
    if (round.tiles == 0 || round.tile < round.tiles) return round;
    const uint64_t before = word;  // no fence until it changes: hundreds of blocks wait at the end of a build
    do word = load_fresh(&rounds->current);
    while (word == before);
  }
}

// By one thread, when all of the block have written: the last tile of a round begins the next one. next(): its word
template <class Round, class Next> RT_DEVICE void complete_tile(Rounds* rounds, const Round& round, Next next) {
  __threadfence();
  if (atomicAdd(&rounds->complete, 1u) + 1 < round.first + round.tiles) return;
  __threadfence();
  publish(&rounds->current, next());
}

}  // namespace rt
