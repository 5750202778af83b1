// Iteration of teams over elements, with blocking loads and with prefetched loads.
#pragma once
#include <cuda_pipeline.h>
#include "tiles.cuh"

namespace rt {

// Calls copy(to, from) for each pack of `count` elements that this thread copies to shared memory.
template <class Team, class Copy>
RT_DEVICE void stage_group(Pack* to, const Real* from, int count, Copy copy) {
  constexpr int kPacksOfPlane = kPlaneSize / kWidth;
  for (int t = Team::thread(); t < count * kN * kPacksOfPlane; t += Team::kThreads)
    copy(to + t / kPacksOfPlane * (kStagedPlane / kWidth) + t % kPacksOfPlane, (const Pack*)from + t);
}

// The range of groups of a team: first, stride, end.
template <class Team>
struct GroupRange {
  long long first, stride, end;
  long long elements;

  RT_DEVICE explicit GroupRange(long long elements)
      : first((long long)blockIdx.x * Team::kTeams + Team::team()),
        stride((long long)gridDim.x * Team::kTeams),
        end((elements + Team::kGroup - 1) / Team::kGroup),
        elements(elements) {}
  RT_DEVICE long long offset(long long group) const { return group * Team::kGroup * kSize; }
  RT_DEVICE int count(long long group) const {
    if constexpr (Team::kGroup == 1) return 1;  // constant, so that loops over the group are unrolled
    long long left = elements - group * Team::kGroup;
    return left < Team::kGroup ? (int)left : Team::kGroup;
  }
};

// Loads, waits, computes. shared: [kTeams][kPacks].
template <class Team>
RT_DEVICE void gradient_in_turn(Pack* shared, const Real* u, const Real* d, Real* gx, Real* gy, Real* gz,
                                long long elements) {
  GroupRange<Team> range(elements);
  Place place = place_of<Team>();
  Pack* copy = shared + Team::team() * Team::kPacks;
  Rows rows;
  if (range.first < range.end) load_rows(rows, d, place.role);
  for (long long group = range.first; group < range.end; group += range.stride) {
    long long at = range.offset(group);
    int count = range.count(group);
    if constexpr (Team::kStaged) {
      stage_group<Team>(copy, u + at, count, [](Pack* to, const Pack* from) { *to = *from; });
      Team::sync();
    }
    gradient_group<Team>(rows, place, Team::kStaged ? (const Real*)copy : u + at, gx + at, gy + at, gz + at, count);
    Team::sync();  // all have read this group before it is overwritten
  }
}

// The next group is copied to a second buffer while this one is computed.
template <class Team>
RT_DEVICE void gradient_ahead(Pack* shared, const Real* u, const Real* d, Real* gx, Real* gy, Real* gz,
                              long long elements) {
  if constexpr (Team::kBuffers < 2) {
    gradient_in_turn<Team>(shared, u, d, gx, gy, gz, elements);
  } else {
    GroupRange<Team> range(elements);
    Place place = place_of<Team>();
    Pack* buffer = shared + Team::team() * Team::kPacks;
    Pack* other = buffer + Team::kPacks / 2;
    auto start = [](Pack* to, const Pack* from) { __pipeline_memcpy_async(to, from, sizeof(Pack)); };
    if (range.first >= range.end) return;  // the whole team
    stage_group<Team>(buffer, u + range.offset(range.first), range.count(range.first), start);
    __pipeline_commit();
    Rows rows;
    load_rows(rows, d, place.role);
    for (long long group = range.first; group < range.end; group += range.stride) {
      long long next = group + range.stride;
      if (next < range.end) stage_group<Team>(other, u + range.offset(next), range.count(next), start);
      __pipeline_commit();         // one batch per iteration, empty in the last
      __pipeline_wait_prior(1);    // this thread's copies of this group are complete
      Team::sync();                // and those of the other threads
      long long at = range.offset(group);
      gradient_group<Team>(rows, place, (const Real*)buffer, gx + at, gy + at, gz + at, range.count(group));
      Team::sync();  // before copies of the iteration after next overwrite it
      Pack* done = buffer;
      buffer = other;
      other = done;
    }
  }
}

}  // namespace rt
