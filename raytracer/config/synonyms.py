"""Names of options and keys in other programs and papers."""

NAMES = {
    # name here -> words for it, in small letters with "_" between parts; the first valid one of a
    # word's names is proposed
    "samples": "aa antialiasing quality samples_per_pixel spp",
    "max_depth": "bounces depth recursion",
    "depth": "bounces max_depth recursion",
    "size": "resolution res dimensions geometry",
    "threads": "cores cpus jobs workers processes",
    "backend": "device engine gpu cuda optix cpu",
    "output": "out to folder dir jpg jpeg ext",
    "transparent": "alpha",
    "tone": "view_transform gamma srgb contrast",
    "stats": "verbose v debug log histogram",
    # cameras, light and materials
    "position": "eye from lookfrom origin location",
    "look_at": "center_of_view focus target center",
    "vertical_fov": "angle field_of_view fov view_angle",
    "ortho": "projection parallel",
    "color": "albedo rgb tint",
    "integrator": "ao occlusion",
    "material": "mirror specular diffuse shininess roughness metallic reflectivity",
    "aperture": "depth_of_field dof lens f_number",
    "shutter": "motion_blur",
    "shininess": "exponent glossiness roughness",
    "mirror": "metallic reflectivity",
    "ground": "floor plane",
    "background": "sky world bg",
    # particles
    "centers": "coordinates points positions",
    "radius": "r size point_size diameter",
    "opacity": "transparency",
    "file": "data path source",
    "spheres": "objects particles atoms",
    "replicate": "images supercell copies tile periodic_images",
    "style": "representation ball_and_stick sticks licorice wire",
    "bonds": "cutoff",
    "wrap": "pbc",
    "map": "cmap colormap lut",
    "color_by": "colour_by scalars",
    "range": "clim vmin vmax",
    "select": "filter_by where elements atoms",
    "pick": "describe probe query",
    "clip": "slice section crop_box",
    # over the picture
    "scale_bar": "ruler",
    "legend": "colorbar",
    "title": "text caption",
    "axes": "tripod orientation",
    "box": "bbox cell unit_cell",
    "outline": "silhouette edges contour",
    "depth_cue": "fog",
    # commands
    "render": "settings draw run convert read write save example examples demo",
    "animate": "movie video turntable film",
    "preview": "gui open show view viewer",
    "info": "exif metadata describe",
    "check": "validate lint describe",
    "devices": "gpus backends",
    "scene": "schema",
    # of the bench
    "vecadd": "add axpy triad",
    "matmul": "gemm sgemm product",
    "contraction": "derivative gradient",
    "profile": "ncu nsight",
}


ANYWHERE = {
    "help": "use `raytracer --help` or `raytracer COMMAND --help`",
    "version": "use `raytracer --version`",
}
"""What to use for options and commands of other programs, with any command."""

_FILE = "is set in a scene file"

ELSEWHERE = {
    "eye position direction azimuth elevation rotation rotate distance camera_position camera_dir "
    "view_direction camera_pos": "standard views are --view front, x, -z, iso, ...; any other "
    f"camera {_FILE}: [camera] position = [x, y, z], look_at = [x, y, z]; `raytracer preview` "
    "prints one with the key C, and '--camera FILE' takes it",
    "fov vfov field_of_view vertical_fov view_angle focal_length": f"the field of view {_FILE}: "
    "[camera] vertical_fov = 40; '--zoom 2' shows half of it",
    "nth every stride subsample skip fraction decimate thin": "use '--select \"every 10\"', or "
    "'--select \"random 0.1\"'",
    "hide show types element species only particle_type": "use '--select \"element == 'O'\"', "
    '"type != 2", ...',
    "frames step timestep time": "a frame of a trajectory is chosen by its number, '--frame "
    "NUMBER'; movies are made by `raytracer animate`",
    "motion_blur shutter shutter_time velocity": "moving particles are blurred by `raytracer "
    "render --shutter 0.5` and `raytracer animate --shutter 0.5`",
    "fps animation animate movie turntable duration orbit follow": "one picture is rendered; "
    "movies are made by `raytracer animate`",
    "farm nodes workers processes": "one process uses all cores, and several GPUs with '--backend "
    "cuda:all'; processes and machines share the frames of a movie with `raytracer animate --part "
    "K/N`",
    "interactive progressive": "`raytracer preview` and `serve` show a picture while samples are "
    "added",
    "overwrite force f y yes": "an earlier picture of the same scene is replaced without an "
    "option; '--output' replaces any",
}
"""What to use for options of other programs, of commands with a scene."""


def find_synonyms(word: str) -> list[str]:
    """Return the names here for a word of other programs."""
    return [name for name, words in NAMES.items() if word in words.split()]
