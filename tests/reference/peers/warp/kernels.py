"""Kernels of the peer Warp: boxes of spheres, and frames."""
# In Warp's language annotations are calls, and a variable that changes in a loop begins as a call.
# mypy: ignore-errors
# ruff: noqa: RUF046, UP018

import warp as wp

NOTHING = wp.constant(wp.uint32(0xFFFFFFFF))
FAR = wp.constant(wp.float32(1e16))
OFFSET = wp.constant(wp.float32(1e-3))  # of rays from a surface, in radii
AMBIENT, DIFFUSE = wp.constant(wp.float32(0.05)), wp.constant(wp.float32(0.9))
ALBEDO = wp.constant(wp.float32(0.7))
OCCLUSION_RAYS, BOUNCES = wp.constant(8), wp.constant(4)
PRIMARY, SHADOW, AO, PATH = (wp.constant(number) for number in range(4))


@wp.kernel
def fill_boxes(
    spheres: wp.array(dtype=wp.vec4), lowers: wp.array(dtype=wp.vec3),
    uppers: wp.array(dtype=wp.vec3),
):  # fmt: skip
    i = wp.tid()
    s = spheres[i]
    lowers[i] = wp.vec3(s[0] - s[3], s[1] - s[3], s[2] - s[3])
    uppers[i] = wp.vec3(s[0] + s[3], s[1] + s[3], s[2] + s[3])


@wp.func
def distance_to(sphere: wp.vec4, origin: wp.vec3, direction: wp.vec3, far: float):
    """The distance to a sphere from outside within (0, far), or `far`."""
    to = wp.vec3(sphere[0], sphere[1], sphere[2]) - origin
    along = wp.dot(to, direction)
    beside = to - along * direction
    inside = sphere[3] * sphere[3] - wp.dot(beside, beside)
    found = far
    if inside >= 0.0:
        half = wp.sqrt(inside)
        at = along - half
        if at <= 0.0:
            at = along + half
        if at > 0.0 and at < far:
            found = at
    return found


@wp.func
def closest(
    tree: wp.uint64, spheres: wp.array(dtype=wp.vec4), origin: wp.vec3, direction: wp.vec3
):  # fmt: skip
    query = wp.bvh_query_ray(tree, origin, direction)
    index, found, far = int(0), wp.uint32(NOTHING), float(FAR)
    while wp.bvh_query_next(query, index, far):
        at = distance_to(spheres[index], origin, direction, far)
        if at < far:
            far = at
            found = wp.uint32(index)
    return found, far


@wp.func
def passes(
    tree: wp.uint64, spheres: wp.array(dtype=wp.vec4), origin: wp.vec3, direction: wp.vec3,
    far: float,
):  # fmt: skip
    query = wp.bvh_query_ray(tree, origin, direction)
    index = int(0)
    while wp.bvh_query_next(query, index, far):
        if distance_to(spheres[index], origin, direction, far) < far:
            return False
    return True


@wp.func
def draw_cosine(normal: wp.vec3, state: wp.uint32):
    return wp.normalize(normal + wp.sample_unit_sphere_surface(state))


@wp.kernel
def render(
    tree: wp.uint64, spheres: wp.array(dtype=wp.vec4), eye: wp.vec3, basis: wp.mat33,
    light: wp.vec3, width: int, height: int, work: int, seed: int, answers: int,
    film: wp.array(dtype=wp.vec4), ids: wp.array(dtype=wp.uint32),
    distances: wp.array(dtype=wp.float32),
):  # fmt: skip
    pixel = wp.tid()
    # Threads of a warp trace a tile of 8 x 4 pixels.
    across = (width + 7) // 8
    tile, lane = pixel // 32, pixel % 32
    column, row = tile % across * 8 + lane % 8, tile // across * 4 + lane // 8
    if column < width and row < height:
        x = 2.0 * (float(column) + 0.5) / float(width) - 1.0
        y = 1.0 - 2.0 * (float(row) + 0.5) / float(height)
        direction = wp.normalize(basis[2] + x * basis[0] + y * basis[1])
        origin = eye
        found, far = closest(tree, spheres, origin, direction)
        at = row * width + column
        if answers != 0:
            ids[at] = found
            distances[at] = far
        grey, alpha = float(0.0), float(0.0)
        if found != NOTHING:
            alpha = float(1.0)
            state = wp.rand_init(seed, at)
            sphere = spheres[int(found)]
            point = origin + far * direction
            normal = wp.normalize(point - wp.vec3(sphere[0], sphere[1], sphere[2]))
            if work == AO:
                for _ray in range(OCCLUSION_RAYS):
                    start = point + OFFSET * sphere[3] * normal
                    if passes(tree, spheres, start, draw_cosine(normal, state), FAR):
                        grey += 1.0 / float(OCCLUSION_RAYS)
            elif work == PATH:
                weight = float(ALBEDO)
                for _bounce in range(BOUNCES):
                    origin = point + OFFSET * sphere[3] * normal
                    direction = draw_cosine(normal, state)
                    found, far = closest(tree, spheres, origin, direction)
                    if found == NOTHING:
                        grey = weight
                        break
                    sphere = spheres[int(found)]
                    point = origin + far * direction
                    normal = wp.normalize(point - wp.vec3(sphere[0], sphere[1], sphere[2]))
                    weight *= ALBEDO
            else:
                start = point + OFFSET * sphere[3] * normal
                to = light - start
                distance = wp.length(to)
                cosine = wp.dot(normal, to) / distance
                grey = float(AMBIENT)
                if cosine > 0.0:
                    is_lit = True
                    if work == SHADOW:
                        is_lit = passes(tree, spheres, start, to / distance, distance)
                    if is_lit:
                        grey += DIFFUSE * cosine
        film[at] = wp.vec4(grey, grey, grey, alpha)
