"""How arm and objects moved in an episode, in MCAP with messages of ROS 2, without ROS."""
