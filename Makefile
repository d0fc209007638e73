# The same few commands for people and CI.  Every one sets up what is missing first.

RUN = . ./activate &&
SETUP = $(or $(PYTHON),python3) tools/setup_env.py
export BBLLM_ROOT = $(CURDIR)
# Each file in one process, since the tests of a file share their nodes. Two processes more than cores, as tests of nodes
# wait for the robot; more than four stacks at once would starve.
SPREAD = -n $(shell n=$$(nproc); echo $$((n < 3 ? n + 2 : 4))) --dist loadfile --no-loadscope-reorder
# AGAIN=--again replays failures alone after the run, as in CI.
PLAY = python tools/run_tests.py play $(AGAIN)
# How fast this machine is, before and after the tests: durations of two machines compare by it.
SPEED = python -m bbllm_bench.benchmarks.time.machine

.PHONY: help has-python setup extras eai fci libero robouse demo test test-slow test-all test-steady test-fast test-launch lint bench bench-recorded docs audit licences lock clean clean-cache

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: has-python ## Set up bbllm without ROS, and let the simulated arm build a plus sign
	@$(SETUP) --demo
	@# What is imported is compiled now, once, also where Python is told to keep no bytecode.
	@env -u PYTHONDONTWRITEBYTECODE bin/bbllm demo

setup: has-python ## Make .venv with ROS 2 Jazzy, the interfaces and bbllm (PYTHON=... chooses the interpreter)
	@$(SETUP)

has-python:
	@command -v $(firstword $(SETUP)) >/dev/null || { echo 'bbllm needs Python. Install it with: sudo apt install python3 python3-venv' >&2; exit 1; }
	@$(firstword $(SETUP)) -c 'import sys; sys.exit(sys.version_info < (3, 8))' || \
		{ echo 'bbllm needs Python 3.11 or 3.12, and this one is older. Name one: make setup PYTHON=/path/to/python3.12' >&2; exit 1; }

extras: has-python ## Add what MCP, --browser, .mp4 files, LeRobot data, MoveIt and vision_msgs need, and VirtualHome to compare with; make test does it too
	@$(SETUP) --extras

fci: build/fci/done ## Install franka-sim into build/fci: an independent server of the robot's protocol, for tests; make test does it too

build/fci/done: requirements/fci.txt
	@$(RUN) uv venv --quiet --clear build/fci && uv pip sync --quiet --python build/fci/bin/python --require-hashes $< && touch $@

libero: build/libero/done ## Install the benchmark LIBERO (1.9 GB) into build/libero, for `bbllm bench libero_object` and others; needs libosmesa6

build/libero/done: requirements/libero.txt
	@ldconfig -p | grep -q libOSMesa || { echo 'LIBERO needs OSMesa. Install it with: sudo apt install libosmesa6' >&2; exit 1; }
	@$(RUN) uv venv --quiet --clear --python '>=3.10,<3.12' build/libero || { echo 'LIBERO needs Python 3.10 or 3.11: its MuJoCo 2.3.7 has wheels for no later one.' >&2; exit 1; }
	@$(RUN) uv pip sync --quiet --python build/libero/bin/python --require-hashes $< && touch $@

eai: build/eai/done ## Install the Embodied Agent Interface with its evaluators and Fast Downward (GPL, a process of its own) into build/eai, for `bbllm bench eai-export` and `eai-score`

build/eai/done: requirements/eai_bench.txt
	@$(RUN) uv venv --quiet --clear --python '>=3.10,<3.12' build/eai || { echo 'The evaluators need Python 3.10 or 3.11: what pddlgym 0.0.7 requires has wheels for no later one.' >&2; exit 1; }
	@$(RUN) uv pip sync --quiet --python build/eai/bin/python --require-hashes $<
	@# Its evaluator expects a clone of Fast Downward here, and would download one.
	@cd build/eai/lib/python3.*/site-packages && chmod +x up_fast_downward/downward/fast-downward.py up_fast_downward/downward/builds/release/bin/downward && \
		ln -sfn ../../../../up_fast_downward/downward virtualhome_eval/simulation/evolving_graph/pddlgym_planners/FD
	@touch $@

robouse: build/robouse/done ## Install Robo Use into build/robouse, with bbllm as its harness and backend (docs/robouse.md); make test-all does it too

build/robouse/done: requirements/robouse.txt integrations/robouse/pyproject.toml
	@$(RUN) uv venv --quiet --clear build/robouse && uv pip sync --quiet --python build/robouse/bin/python --require-hashes $< && \
		uv pip install --quiet --no-deps --no-build-isolation --python build/robouse/bin/python -e integrations/robouse && touch $@

test: setup ## Run the linters and the tests (BBLLM_REQUIRE=virtualhome: fail where that cannot be had)
	@$(MAKE) -s extras || echo 'Going on without the extras: the tests that need them are skipped,' \
		'and fail where BBLLM_REQUIRE names what they need.' >&2
	@$(MAKE) -s fci || echo 'Going on without franka-sim: the tests that need it are skipped.' >&2
	@$(RUN) $(SPEED)
	@mkdir -p build; $(RUN) $(LINT) > build/lint.log 2>&1 & lint=$$!; $(RUN) code=0; \
		$(PLAY) fast $(SPREAD) -m 'not slow' || code=1; wait $$lint || { code=1; cat build/lint.log; }; $(SPEED); exit $$code

test-slow: setup ## Run the tests that take minutes, and those that draw random inputs with all of these
	@$(MAKE) -s extras || echo 'Going on without the extras: the tests that need them are skipped.' >&2
	@$(MAKE) -s fci || echo 'Going on without franka-sim: the tests that need it are skipped.' >&2
	@$(MAKE) -s robouse || echo 'Going on without Robo Use: the tests that need it are skipped.' >&2
	@$(RUN) $(PLAY) slow $(SPREAD) -m 'slow or hypothesis or drawn' --hypothesis-profile=full

test-all: ## Run the linters and every test, also those that take minutes
	@code=0; $(MAKE) test || code=1; $(MAKE) test-slow || code=1; exit $$code

test-steady: setup ## Run the tests of nodes five times beside six busy processes, and list what failed how often
	@$(RUN) python tools/run_tests.py steady $(SPREAD) -m 'ros and not slow'

test-fast: setup ## Run the tests that need no ROS
	@$(RUN) python -m pytest -m 'not ros'

LINT = { ruff check . && ruff format --check . && lint-imports && mypy; }
test-launch: setup ## Run the tests of the launch files, with ros2 launch (it comes with ROS 2, not from PyPI)
	@$(RUN) python -c 'import launch_ros, ros2cli, ros2launch' || { echo 'Install launch, launch_ros and ros2cli, or source a ROS 2 that has them.' >&2; exit 1; }
	@$(RUN) python -m pytest tests/ros/stack/test_launch.py tests/ros/stack/test_launch_runs.py tests/test_docs.py

lint: setup ## Run ruff, import-linter and mypy
	@$(RUN) $(LINT)

bench: setup ## Measure the arm, times and the seven tasks (minutes)
	@bin/bbllm bench arm && bin/bbllm bench time --quick && bin/bbllm bench tabletop --planner brain_body:reach=no --brain offline --body offline --k 0,1,2,3

bench-recorded: setup ## Replay a language model's recorded replies, without a key (minutes)
	@$(RUN) python -c 'import virtualhome_eval' 2>/dev/null || pip install --quiet --require-hashes --no-deps -r requirements/eai.txt || \
		echo 'Going on without the package eai-eval: the tasks of eai are left out.' >&2
	@bin/bbllm bench recorded

docs: build/docs/done ## Build the docs site into build/site (installs mkdocs-material beside it, not in .venv)
	@NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build && echo 'Open build/site/index.html; it needs no server and no network.'

build/docs/done: requirements/docs.txt
	@python3 -m venv build/docs && build/docs/bin/pip install --quiet --require-hashes --no-deps -r $< && touch $@

audit: build/audit/done ## Look up known faults of all locked packages; asks PyPI for each of them
	@code=0; for file in requirements/*.txt; do echo $$file; \
		build/audit/bin/pip-audit --progress-spinner off --disable-pip --require-hashes -r $$file || code=1; done; exit $$code

build/audit/done: requirements/audit.txt
	@python3 -m venv build/audit && build/audit/bin/pip install --quiet --require-hashes --no-deps -r $< && touch $@

licences: extras ## Write THIRD_PARTY.md: the licences of what make setup and make extras install
	@mkdir -p build; $(RUN) python tools/licences.py > build/third_party.md && mv build/third_party.md THIRD_PARTY.md

lock: setup ## Resolve the requirements anew
	@$(RUN) tools/lock.sh

clean: ## Remove everything that was built here
	rm -rf .venv build install log

clean-cache: has-python ## Remove the built interface packages that are kept for other clones
	@$(SETUP) --clear-cache
