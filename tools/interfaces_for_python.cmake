# Included by the interface packages when tools/setup_env.py builds them: only what rclpy uses, with
# fewer calls of the compiler, in half the time.  A plain `colcon build` makes everything.

# C and Python.  Fast DDS looks types up by introspection, in C.
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

# One extension module in Python, the only one that rosidl_generator_py ever imports.
macro(rosidl_generator_py_get_typesupports TYPESUPPORT_IMPLS)
  set(${TYPESUPPORT_IMPLS} "rosidl_typesupport_c")
endmacro()

# The sources of these targets can be compiled as one; those of the C generator cannot.
function(bbllm_compile_as_one)
  foreach(part
    rosidl_generator_py
    rosidl_typesupport_c
    rosidl_typesupport_fastrtps_c
    rosidl_typesupport_introspection_c
  )
    if(TARGET ${PROJECT_NAME}__${part})
      set_target_properties(${PROJECT_NAME}__${part} PROPERTIES
        UNITY_BUILD ON
        UNITY_BUILD_BATCH_SIZE 0
      )
    endif()
  endforeach()
endfunction()
cmake_language(DEFER CALL bbllm_compile_as_one)
