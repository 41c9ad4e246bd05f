"""What runs in verify's child processes, with torch."""
