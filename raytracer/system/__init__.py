"""What the machine gives: processes, memory, threads, arrays of devices, the compiled extension."""
