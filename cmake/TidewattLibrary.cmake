# tidewatt_add_library(name SOURCES ... DEPENDS ... [LINK_PUBLIC ...] [LINK_PRIVATE ...] [TESTS ...] [TEST_LINK ...] [ALONE ...])
#
# One library of ours: target, alias tidewatt::name, warnings, the check that each public header compiles
# alone, and one unit-test executable per name in TESTS (file tests/<name>_test.cc).
# DEPENDS names our libraries only and must stand in tools/layers.txt: the arrow is a build error otherwise.
# LINK_PUBLIC / LINK_PRIVATE are third-party targets. ALONE: sources that TIDEWATT_UNITY doesn't join with others (vendors'
# declarations, which have the same names).

function(tidewatt_allowed_dependencies name out)
  file(STRINGS "${PROJECT_SOURCE_DIR}/tools/layers.txt" lines)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/layers.txt")
  foreach(line IN LISTS lines)
    if(line MATCHES "^${name}:(.*)$")
      string(STRIP "${CMAKE_MATCH_1}" deps)
      string(REPLACE " " ";" deps "${deps}")
      set(${out} "${deps}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "tools/layers.txt has no line for library '${name}': add one that says what it may depend on")
endfunction()

function(tidewatt_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK_PUBLIC;LINK_PRIVATE;TESTS;TEST_LINK;ALONE" ${ARGN})
  tidewatt_allowed_dependencies(${name} allowed)
  foreach(dep IN LISTS ARG_DEPENDS)
    if(NOT dep IN_LIST allowed)
      message(FATAL_ERROR "libs/${name} may not depend on libs/${dep}: that arrow is not in tools/layers.txt")
    endif()
  endforeach()

  set(target tidewatt_${name})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE tidewatt_warnings)
    set_target_properties(${target} PROPERTIES UNITY_BUILD "${TIDEWATT_UNITY}" UNITY_BUILD_BATCH_SIZE 8)
    if(ARG_ALONE)
      set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(tidewatt::${name} ALIAS ${target})
  target_include_directories(${target} ${scope} "${CMAKE_CURRENT_SOURCE_DIR}/include")
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} ${scope} tidewatt::${dep})
  endforeach()
  target_link_libraries(${target} ${scope} ${ARG_LINK_PUBLIC})
  if(ARG_LINK_PRIVATE)
    target_link_libraries(${target} PRIVATE ${ARG_LINK_PRIVATE})
  endif()

  if(TIDEWATT_TESTS)
    tidewatt_check_headers(${name})
    foreach(test IN LISTS ARG_TESTS)
      tidewatt_add_test(${name}_${test} unit SOURCES tests/${test}_test.cc LINK tidewatt::${name} ${ARG_TEST_LINK})
    endforeach()
  endif()
endfunction()

# Each public header is compiled as a file of its own: it must include what it uses.
function(tidewatt_check_headers name)
  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/include/tidewatt/${name}/*.h")
  set(units "")
  foreach(header IN LISTS headers)
    get_filename_component(stem "${header}" NAME_WE)
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/header_check/${stem}.cc")
    file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"tidewatt/${name}/${stem}.h\"\n" @ONLY)
    list(APPEND units "${unit}")
  endforeach()
  if(units)
    add_library(tidewatt_${name}_headers OBJECT ${units})
    target_link_libraries(tidewatt_${name}_headers PRIVATE tidewatt::${name} tidewatt_warnings)
  endif()
endfunction()

# Checks at each dereference make a third of a test's compile time; AddressSanitizer sees a null one as well, and the
# library's own files keep them.
set(TIDEWATT_TEST_OPTIONS "")
if(TIDEWATT_SANITIZE)
  set(TIDEWATT_TEST_OPTIONS -fno-sanitize=null,alignment)
endif()

# tidewatt_add_test(name label SOURCES ... LINK ...): a GoogleTest executable, registered with CTest under a label.
function(tidewatt_add_test name label)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${ARG_LINK} tidewatt_test_support GTest::gmock_main tidewatt_warnings)
  target_compile_options(test_${name} PRIVATE ${TIDEWATT_TEST_OPTIONS})
  if(TARGET tidewatt_test_headers)
    target_precompile_headers(test_${name} REUSE_FROM tidewatt_test_headers)
  endif()
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT 300)
endfunction()

# Counts edges for libFuzzer. With TIDEWATT_FUZZ_PLAIN comparisons aren't traced: they cost as much as the parsing, and
# long campaigns begin from corpora that were found with them.
function(tidewatt_instrument target)
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link
    $<$<BOOL:${TIDEWATT_FUZZ_PLAIN}>:-fno-sanitize-coverage=trace-cmp>)
endfunction()

# tidewatt_add_fuzz(library NAME...): libFuzzer targets fuzz_NAME from fuzz/NAME_fuzz.cc, where fuzzing is configured.
function(tidewatt_add_fuzz library)
  if(NOT TIDEWATT_FUZZ)
    return()
  endif()
  tidewatt_instrument(tidewatt_${library})
  foreach(name IN LISTS ARGN)
    add_executable(fuzz_${name} fuzz/${name}_fuzz.cc)
    target_link_libraries(fuzz_${name} PRIVATE tidewatt::${library} tidewatt_warnings)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
endfunction()
