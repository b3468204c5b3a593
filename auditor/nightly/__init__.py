"""What a night's run says: findings compared with the runs before, and what is accepted. Values in, values out."""
