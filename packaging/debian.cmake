# Four binary packages, with the names and the split of the originals:
#   rocdxg-roct, hsakmt-roct          what a program needs at run time: the file and its SONAME link
#   rocdxg-roct-dev, hsakmt-roct-dev  what a compiler needs: the bare link, pkg-config and CMake files, headers
# include/hsakmt is in hsakmt-roct-dev alone, so that rocdxg-roct-dev can be installed beside AMD's own headers.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION ${library_version})
set(CPACK_PACKAGE_VENDOR rocdxg)
set(CPACK_PACKAGE_CONTACT "rocdxg developers <rocdxg@localhost>" CACHE STRING "Maintainer of the packages")
set(CPACK_SET_DESTDIR ON) # Files go to /etc as well as below the prefix.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Adds the package NAME with the components that follow.
macro(debian_package name section summary)
    string(TOUPPER ${name} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}")
    foreach(component ${ARGN})
        list(APPEND CPACK_COMPONENTS_ALL ${component})
        string(TOUPPER ${component} upper_component)
        set(CPACK_COMPONENT_${upper_component}_GROUP ${name})
    endforeach()
endmacro()

macro(thunk_packages package)
    set(roct ${package}-roct)
    set(files "${CMAKE_BINARY_DIR}/debian/${roct}")
    debian_package(${roct}-dev libdevel "ROCm GPU thunk lib${package}, development files" ${roct}-dev)
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${roct} (= ${library_version})")

    debian_package(${roct} libs "ROCm GPU thunk, shared library lib${package}.so.1" ${roct})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
    # What packages that link to the library depend on; and the dynamic linker's cache is rebuilt when it comes or goes.
    file(WRITE "${files}/shlibs" "lib${package} 1 ${roct} (>= ${library_version})\n")
    file(WRITE "${files}/triggers" "activate-noawait ldconfig\n")
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${files}/shlibs;${files}/triggers")

    # Below /opt the cache covers the library only if its folder is named. Packages alone do that: an installation
    # writes nothing outside its prefix.
    if(NOT CMAKE_INSTALL_PREFIX MATCHES "^/(usr)?$")
        file(WRITE "${files}/${roct}.conf" "${CMAKE_INSTALL_FULL_LIBDIR}\n")
        file(WRITE "${files}/conffiles" "/etc/ld.so.conf.d/${roct}.conf\n")
        install(FILES "${files}/${roct}.conf" DESTINATION /etc/ld.so.conf.d
                COMPONENT ${roct}-path EXCLUDE_FROM_ALL)
        debian_package(${roct} libs "${CPACK_DEBIAN_${upper}_DESCRIPTION}" ${roct}-path)
        list(APPEND CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${files}/conffiles")
    endif()
endmacro()

thunk_packages(rocdxg)
# ROCr before its loader learned the SONAME, and rocprofiler-sdk, know the bare name alone.
set(CPACK_DEBIAN_ROCDXG-ROCT_PACKAGE_RECOMMENDS "rocdxg-roct-dev")
set(CPACK_DEBIAN_ROCDXG-ROCT-DEV_PACKAGE_RECOMMENDS "hsakmt-roct-dev | hsa-rocr-dev")
thunk_packages(hsakmt)

include(CPack)
