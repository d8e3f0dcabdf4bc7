# SPDX-License-Identifier: BSD-3-Clause
# Deliberate bugs: copies of backend/utofu, each with one thing broken. The emulation must catch every one of them, or it proves
# nothing. They are built by the long test that runs them.
file(GLOB utofu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backend/utofu/*.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${utofu_sources})
add_custom_target(utofu_mutants)
# The tests, and all files of the backend, one by one: a mutant replaces one of them, and what replaces none must pass.
add_library(utofu_unbroken OBJECT EXCLUDE_FROM_ALL threads.cpp processes.cpp ${utofu_sources})
set_target_properties(utofu_unbroken PROPERTIES UNITY_BUILD OFF)
target_link_libraries(utofu_unbroken PRIVATE trefoil_conformance trefoil_options GTest::gtest)

# utofu_mutant_program(TARGET OBJECTS...)
function(utofu_mutant_program target)
  add_executable(${target} EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE trefoil_conformance trefoil_known_leaks trefoil_options GTest::gtest_main)
  target_compile_options(${target} PRIVATE -w)
  add_dependencies(utofu_mutants ${target})
endfunction()
utofu_mutant_program(test_utofu_unbroken $<TARGET_OBJECTS:utofu_unbroken>)

# utofu_mutant(NAME IN file BREAK text TO text RUN gtest-filter [WITH VARIABLE=value ...]): the test passes when the mutant fails.
function(utofu_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 M "" "IN;BREAK;TO;RUN" "WITH")
  file(READ ${PROJECT_SOURCE_DIR}/backend/utofu/${M_IN} text)
  string(FIND "${text}" "${M_BREAK}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "tests/backend/utofu/mutants.cmake: ${M_IN} has no \"${M_BREAK}\" for mutant ${name}")
  endif()
  string(REPLACE "${M_BREAK}" "${M_TO}" text "${text}")
  set(broken ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}/${M_IN})
  file(CONFIGURE OUTPUT ${broken} CONTENT "${text}" @ONLY)
  utofu_mutant_program(test_utofu_mutant_${name} ${broken} $<FILTER:$<TARGET_OBJECTS:utofu_unbroken>,EXCLUDE,/${M_IN}>)
  add_test(NAME utofu_mutant_${name}_long
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/mutant.py $<TARGET_FILE:test_utofu_mutant_${name}> ${M_RUN} ${M_WITH})
  set_tests_properties(utofu_mutant_${name}_long PROPERTIES LABELS long TIMEOUT 400 FIXTURES_REQUIRED utofu_mutants)
  over_emulated_tofu(utofu_mutant_${name}_long)
endfunction()

add_test(NAME utofu_mutants_build_long
         COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target utofu_mutants)
set_tests_properties(utofu_mutants_build_long PROPERTIES LABELS long TIMEOUT 1500 FIXTURES_SETUP utofu_mutants)

utofu_mutant(no_order IN sending.cpp BREAK "in_order = UTOFU_ONESIDED_FLAG_STRONG_ORDER" TO "in_order = 0" RUN "*ManyPuts*:*EverySize*")
utofu_mutant(unordered_data IN sending.cpp BREAK "in_order | UTOFU_ONESIDED_FLAG_TCQ_NOTICE" TO "UTOFU_ONESIDED_FLAG_TCQ_NOTICE"
             RUN "*EverySize*")
utofu_mutant(no_credit IN sending.cpp BREAK "way.window - (way.sent - way.credited)" TO "way.window" RUN "*ManyPuts*")
utofu_mutant(unshared_queue IN group.cpp BREAK "options.notices / options.sharers" TO "options.notices * 64" RUN "*ManyPuts*"
             WITH EMULATED_TOFU_NOTICES=28 TREFOIL_UTOFU_NOTICES=98)
utofu_mutant(early_credit IN sending.cpp BREAK "way.looked != queue.emptied" TO "true" RUN "*CreditIsNot*"
             WITH EMULATED_TOFU_NOTICES=28 TREFOIL_UTOFU_NOTICES=98 EMULATED_TOFU_UNREQUESTED=100 EMULATED_TOFU_PUTS=9999 EMULATED_TOFU_BUSY=0)
utofu_mutant(wrong_source IN sending.cpp BREAK "own->by_queue[way.queue]" TO "own->by_queue[0]" RUN "*PutsLandInRegistered*")
utofu_mutant(wrong_target IN sending.cpp BREAK "memory->by_port[peer_port]" TO "memory->by_port.back()" RUN "*EveryPort*")
utofu_mutant(done_too_early IN sending.cpp BREAK "progress == Progress::stalled && !untouched" TO
             "progress == Progress::stalled && !untouched && (pending->pieces = 1U << 20, way.unfinished = true, unfinished_.push_back(number), true)) { return PutResult::done; } if (false"
             RUN "*WithoutItsSender*" WITH EMULATED_TOFU_BUSY=40)
utofu_mutant(sent_too_early IN sending.cpp BREAK "progress == Progress::complete && pending->pieces > 0" TO
             "progress == Progress::complete && pending->pieces > 0 && (pending->lost = true)) { return PutResult::done; } if (false"
             RUN "*SourcesAreFree*")
utofu_mutant(busy_is_sent IN sending.cpp BREAK "way.stream, flags, nullptr);\n    } else" TO
             "way.stream, flags, nullptr);\n        code = UTOFU_SUCCESS;\n    } else" RUN "*PutsLandInRegistered*" WITH EMULATED_TOFU_BUSY=40)
utofu_mutant(no_split IN sending.cpp BREAK "std::min<std::uint64_t>(put.left, queue.interface.caps.max_putget_size)" TO "put.left"
             RUN "*EverySize*" WITH EMULATED_TOFU_LONGEST_PUT=50000)
utofu_mutant(no_drain IN closing.cpp BREAK "drain(deadline);\n        say_farewells(deadline);" TO "queues_[0].under_way = 0;"
             RUN "*SeenOff*" WITH EMULATED_TOFU_HOSTILE=2)
utofu_mutant(early_deregistration IN receiving.cpp BREAK "registered_.count(place.registration) > 0" TO "place.registration > 0"
             RUN "*NothingLands*")
utofu_mutant(forgotten_memory IN closing.cpp BREAK "allocated_) {\n        deregister_from_all(*memory);" TO "allocated_) {\n        (void)memory;"
             RUN "*MemoryIsZeroed*threads" WITH EMULATED_TOFU_LEAKS=1)
utofu_mutant(unsafe_threads IN group.cpp BREAK "shared ? UTOFU_VCQ_FLAG_THREAD_SAFE : 0" TO "0" RUN "*ManyPuts*threads*:*GroupsRun*threads*")
