"""What all stages share: findings, reports, settings, errors."""
