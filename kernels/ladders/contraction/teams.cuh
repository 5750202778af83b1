// Iteration of teams over elements.
#pragma once
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

}  // namespace rt
