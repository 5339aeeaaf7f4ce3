# Warnings, sanitizers, ccache and mold.
add_library(tidewatt_warnings INTERFACE)
target_compile_options(tidewatt_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these on sound code inlined from libstdc++ and fmt (gcc bug 105329 and its kin).
  target_compile_options(tidewatt_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow
    -Wno-array-bounds)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's own algorithms call a function that it marks deprecated.
  target_compile_options(tidewatt_warnings INTERFACE -Wno-deprecated-declarations)
endif()
if(TIDEWATT_SANITIZE)
  add_compile_options(-fsanitize=${TIDEWATT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TIDEWATT_SANITIZE})
  if(TIDEWATT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # Asio's fences
  endif()
endif()
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths relative to the project: several clones share one cache.
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT TIDEWATT_FUZZ AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  add_link_options(-fuse-ld=mold)
endif()
