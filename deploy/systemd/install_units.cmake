# The services, with the path of the programs beside them: written when they are installed, since `cmake --install
# --prefix` may name another folder than the one that was configured.
set(TIDEWATT_BINDIR "${CMAKE_INSTALL_PREFIX}/bin")
foreach(unit tidewatt-agent.service tidewatt-server.service tidewatt-slurm-controller.service tidewatt-slurm-sync.service)
  configure_file("${TIDEWATT_UNITS_FROM}/${unit}.in" "${TIDEWATT_UNITS_IN}/${unit}" @ONLY)
  file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system" TYPE FILE FILES "${TIDEWATT_UNITS_IN}/${unit}")
endforeach()
