# tidewatt_embed_web(OUT_CC): builds web/ with npm when TIDEWATT_WEB is on and Node.js is there, and makes a C++ file
# that holds the pages. Without them the file holds an empty table and the server says how to build them.
function(tidewatt_embed_web out)
  set(cc "${CMAKE_CURRENT_BINARY_DIR}/web_files.cc")
  set(script "${PROJECT_SOURCE_DIR}/tools/embed_web.py")
  set(web "${PROJECT_SOURCE_DIR}/web")
  find_program(NPM_PROGRAM npm)
  if(TIDEWATT_WEB AND EXISTS "${web}/vite.config.ts" AND NOT NPM_PROGRAM)
    message(WARNING "TIDEWATT_WEB is on but npm was not found: the server is built without its pages")
  endif()
  if(TIDEWATT_WEB AND EXISTS "${web}/vite.config.ts" AND NPM_PROGRAM)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${web}/src/*" "${web}/public/*")
    list(APPEND sources "${web}/index.html" "${web}/vite.config.ts" "${web}/tsconfig.json")
    set(modules "${CMAKE_CURRENT_BINARY_DIR}/npm_ci.stamp")
    add_custom_command(OUTPUT "${modules}"
      COMMAND "${NPM_PROGRAM}" ci --no-audit --no-fund --loglevel=error
      COMMAND "${CMAKE_COMMAND}" -E touch "${modules}"
      WORKING_DIRECTORY "${web}" DEPENDS "${web}/package.json" "${web}/package-lock.json"
      COMMENT "Installing what the pages need" VERBATIM)
    add_custom_command(OUTPUT "${cc}"
      COMMAND "${NPM_PROGRAM}" run --silent build
      COMMAND "${Python3_EXECUTABLE}" "${script}" "${web}/dist" "${cc}"
      WORKING_DIRECTORY "${web}" DEPENDS "${modules}" "${script}" ${sources}
      COMMENT "Building the pages" VERBATIM)
  else()
    add_custom_command(OUTPUT "${cc}"
      COMMAND "${Python3_EXECUTABLE}" "${script}" "${CMAKE_CURRENT_BINARY_DIR}/no_web" "${cc}"
      DEPENDS "${script}" COMMENT "Embedding no pages" VERBATIM)
  endif()
  set(${out} "${cc}" PARENT_SCOPE)
endfunction()

# tidewatt_embed_openapi(OUT_CC): docs/api/openapi.yaml as JSON inside a C++ file.
function(tidewatt_embed_openapi out)
  set(cc "${CMAKE_CURRENT_BINARY_DIR}/openapi.cc")
  set(script "${PROJECT_SOURCE_DIR}/tools/openapi_to_json.py")
  set(document "${PROJECT_SOURCE_DIR}/docs/api/openapi.yaml")
  add_custom_command(OUTPUT "${cc}"
    COMMAND "${Python3_EXECUTABLE}" "${script}" "${document}" "${cc}"
    DEPENDS "${script}" "${document}" COMMENT "Converting the OpenAPI document" VERBATIM)
  set(${out} "${cc}" PARENT_SCOPE)
endfunction()
