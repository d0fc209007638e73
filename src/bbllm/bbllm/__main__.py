"""`python -m bbllm` is `bbllm`."""

from __future__ import annotations

from bbllm.cli.main import app

if __name__ == '__main__':
    app(prog_name='bbllm')
