"""Devices: the CPU and NVIDIA GPUs."""
