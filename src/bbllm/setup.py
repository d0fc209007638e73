"""Build script of bbllm: metadata is in setup.cfg, here stands only what needs a file listing."""

from glob import glob

from setuptools import setup

# launch, config and test are symbolic links to the folders at the repository's root.
setup(
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/bbllm']),
        ('share/bbllm', ['package.xml']),
        ('share/bbllm/launch', glob('launch/*.py')),
        ('share/bbllm/config', glob('config/*.yaml')),
        ('share/bbllm/config/catalogues', glob('config/catalogues/*.yaml')),
        ('share/bbllm/config/dds', glob('config/dds/*.xml')),
        ('share/bbllm/config/demonstrations', glob('config/demonstrations/*.yaml')),
        ('share/bbllm/config/foxglove', glob('config/foxglove/*.json')),
        ('share/bbllm/config/franka', glob('config/franka/*.yaml')),
        ('share/bbllm/config/houses', glob('config/houses/*.yaml')),
        ('share/bbllm/config/params', glob('config/params/*.yaml')),
        ('share/bbllm/config/recordings', glob('config/recordings/*.*')),
        ('share/bbllm/config/recordings/eai', glob('config/recordings/eai/*.json')),
        (
            'share/bbllm/config/recordings/eai/virtualhome/action_sequencing',
            glob('config/recordings/eai/virtualhome/action_sequencing/*.json'),
        ),
        (
            'share/bbllm/config/recordings/eai/virtualhome/goal_interpretation',
            glob('config/recordings/eai/virtualhome/goal_interpretation/*.json'),
        ),
        (
            'share/bbllm/config/recordings/eai/virtualhome/subgoal_decomposition',
            glob('config/recordings/eai/virtualhome/subgoal_decomposition/*.json'),
        ),
        (
            'share/bbllm/config/recordings/eai/virtualhome/transition_modeling',
            glob('config/recordings/eai/virtualhome/transition_modeling/*.json'),
        ),
        ('share/bbllm/config/recordings/feedback', glob('config/recordings/feedback/*.xz')),
        ('share/bbllm/config/recordings/injection', glob('config/recordings/injection/*.xz')),
        ('share/bbllm/config/recordings/libero', glob('config/recordings/libero/*.*')),
        ('share/bbllm/config/recordings/robouse', glob('config/recordings/robouse/*.xz')),
        ('share/bbllm/config/rviz', glob('config/rviz/*.rviz')),
        ('share/bbllm/config/scenes', glob('config/scenes/*.yaml')),
        ('share/bbllm/config/sros2', glob('config/sros2/*.xml')),
        ('share/bbllm/config/suites', glob('config/suites/*.yaml')),
        ('bin', ['bin/bbllm']),
    ],
)
