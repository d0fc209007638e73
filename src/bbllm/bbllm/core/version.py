"""The version of bbllm, in a module that imports nothing."""

VERSION = '0.1.0'
