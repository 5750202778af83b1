"""What a scene can say: sets, solids, meshes, camera, lights, materials, background."""
