"""`python -m benchmarks.time`: measures the bbllm that Python finds, also another checkout's."""

from benchmarks.time.command import app

if __name__ == '__main__':
    app()
