"""Waiting, actions, services, heartbeats and processes on rclpy."""
