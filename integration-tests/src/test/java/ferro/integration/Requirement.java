package ferro.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A row of docs/requirements.md; its tests are {@code TestClass#method} behind commas. */
record Requirement(String id, String what, String type, String test) {
    /** What stands in place of a test that is still to be written; the page is not right before it is. */
    private static final String OPEN = "open";

    private static final String REFERENCE_TESTS = """
            test_gpu_allreduce_sum_2_ranks test_gpu_allreduce_mean_2_ranks test_gpu_broadcast_from_rank_0
            test_gpu_allreduce_single_rank test_gpu_allreduce_preserves_shape test_gpu_broadcast_invalid_root
            gpu_allreduce_dispatches_to_nccl_in_single_rank_mode gpu_broadcast_dispatches_to_nccl_in_single_rank_mode
            test_nccl_requires_two_devices test_nccl_rejects_cpu test_nccl_init_destroy test_nccl_broadcast
            test_nccl_all_reduce_sum test_nccl_all_reduce_avg test_nccl_all_reduce_on_streams
            test_nccl_rank_comm_rejects_invalid_rank test_nccl_rank_comm_rejects_world_size_one
            test_nccl_unique_id_clone test_nccl_rank_comm_send test_nccl_rank_comm_init_and_reduce
            test_nccl_rank_comm_on_stream test_nccl_rank_comm_multi_tensor_batch
            test_nccl_unique_id_default test_nccl_unique_id_debug test_reduce_op_conversion
            test_nccl_error_display test_nccl_result_enum test_nccl_data_type_enum
            """;

    static List<Requirement> read(Path page) throws IOException {
        try (Stream<String> lines = Files.lines(page)) {
            return lines.filter(line -> line.startsWith("| "))
                    .map(line -> line.substring(2, line.lastIndexOf('|')).split(" \\| "))
                    .filter(cells -> cells.length == 4 && !cells[0].equals("id"))
                    .map(cells -> new Requirement(cells[0], cells[1], cells[2], cells[3].trim()))
                    .toList();
        }
    }

    /** Every id that must stand on the page, in its order. */
    static List<String> allIds() {
        return Stream.of(
                        numbered("0-%02d", 29),
                        numbered("REQ-%d", 7),
                        numbered("1-%02d", 38),
                        numbered("2-%02d", 32),
                        numbered("3-%02d", 42),
                        numbered("T%d", 18),
                        numbered("decision %d", 13),
                        Arrays.stream(REFERENCE_TESTS.trim().split("\\s+")))
                .flatMap(ids -> ids)
                .toList();
    }

    private static Stream<String> numbered(String format, int last) {
        return IntStream.rangeClosed(1, last).mapToObj(number -> String.format(format, number));
    }

    List<String> tests() {
        return test.equals(OPEN) ? List.of() : List.of(test.split(", "));
    }

    Requirement with(List<String> tests) {
        return new Requirement(id, what, type, tests.isEmpty() ? OPEN : String.join(", ", tests));
    }

    @Override
    public String toString() {
        return Stream.of(id, what, type, test).collect(Collectors.joining(" | ", "| ", " |"));
    }
}
