"""`python -m bbllm_bench.benchmarks.time`: measures the bbllm that Python finds."""

from bbllm_bench.benchmarks.time.command import app

if __name__ == '__main__':
    app()
