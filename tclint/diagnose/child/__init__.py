"""What runs in diagnose's child processes, with torch."""
