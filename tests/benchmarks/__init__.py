"""Measurements. They are commands, not tests: what a machine was doing that minute must not decide a build."""
