"""Robo Use: bbllm as its harness, and our table as its backend."""
