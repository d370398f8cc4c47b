package ferro.backend.nccl;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers of nccl.h. */
class NcclConstantsTest {

    @Test
    @DisplayName("test_nccl_result_enum: 3-01 every result has its number and its name")
    void resultsHaveTheirNumbers() {
        assertEquals(0, NcclResult.SUCCESS.code());
        assertEquals(3, NcclResult.INTERNAL_ERROR.code());
        assertEquals(4, NcclResult.INVALID_ARGUMENT.code());
        assertEquals(
                List.of(
                        "ncclSuccess (0)",
                        "ncclUnhandledCudaError (1)",
                        "ncclSystemError (2)",
                        "ncclInternalError (3)",
                        "ncclInvalidArgument (4)",
                        "ncclInvalidUsage (5)",
                        "ncclRemoteError (6)",
                        "ncclInProgress (7)",
                        "ncclTimeout (8)"),
                NcclResult.all().stream().map(NcclResult::toString).toList());
        for (NcclResult result : NcclResult.all()) {
            assertEquals(result, NcclResult.of(result.code()));
        }
    }

    @ParameterizedTest
    @DisplayName("3-01 T15: a code that no release has today is kept, not refused")
    @ValueSource(ints = {9, 4711, -1, Integer.MIN_VALUE})
    void unknownCodesAreKept(int code) {
        NcclResult result = NcclResult.of(code);

        assertEquals(code, result.code());
        assertFalse(result.known());
        assertEquals("unknown NCCL result (" + code + ")", result.toString());
    }

    @Test
    @DisplayName("test_reduce_op_conversion: 1-02 2-30 3-02 3-18 0-15 every reduction has its number")
    void reductionsHaveTheirNumbers() {
        assertEquals(0, NcclRedOp.of(ReduceOp.SUM).code());
        assertEquals(1, NcclRedOp.of(ReduceOp.PRODUCT).code());
        assertEquals(2, NcclRedOp.of(ReduceOp.MAX).code());
        assertEquals(3, NcclRedOp.of(ReduceOp.MIN).code());
        assertEquals(4, NcclRedOp.of(ReduceOp.AVG).code());
        assertEquals(4, NcclRedOp.of(ReduceOp.parse("mean")).code());
    }

    @Test
    @DisplayName("3-18: a reduction that NCCL lacks is refused with those that it has")
    void otherReductionsAreRefused() {
        for (ReduceOp op : List.of(ReduceOp.BAND, ReduceOp.preMultipliedSum(2), ReduceOp.of("sum", (a, b) -> {}))) {
            assertRefused(
                    UnsupportedOperationException.class,
                    () -> NcclRedOp.of(op),
                    op.name(),
                    "sum, product, max, min, avg");
        }
    }

    @Test
    @DisplayName("test_nccl_data_type_enum: 3-03 0-13 every element type has its number")
    void typesHaveTheirNumbers() {
        Map<DataType, Integer> codes = new EnumMap<>(Map.of(
                DataType.INT8, 0,
                DataType.UINT8, 1,
                DataType.INT32, 2,
                DataType.UINT32, 3,
                DataType.INT64, 4,
                DataType.UINT64, 5,
                DataType.FLOAT16, 6,
                DataType.FLOAT32, 7,
                DataType.FLOAT64, 8,
                DataType.BFLOAT16, 9));
        codes.forEach((type, code) -> {
            assertEquals(code, NcclDataType.of(type).code());
            assertEquals(type.byteSize(), NcclDataType.of(type).byteSize());
        });
        assertEquals(10, NcclDataType.FLOAT8_E4M3.code());
        assertEquals(11, NcclDataType.FLOAT8_E5M2.code());
        assertEquals(1, NcclDataType.FLOAT8_E5M2.byteSize());
    }

    @ParameterizedTest
    @DisplayName("0-13: an element type is wired, or refused with those that are")
    @EnumSource
    void everyTypeIsWiredOrRefused(DataType type) {
        if (type != DataType.INT16 && type != DataType.UINT16) {
            assertEquals(type.byteSize(), NcclDataType.of(type).byteSize());
            return;
        }
        assertRefused(
                UnsupportedOperationException.class,
                () -> NcclDataType.of(type),
                "NCCL fast path",
                type.label(),
                "i8 u8 i32 u32 i64 u64 f16 bf16 f32 f64");
    }

    @ParameterizedTest
    @DisplayName("3-27 T11: both ways in which a release was ever numbered are read")
    @CsvSource({"2804, 2.8.4", "2408, 2.4.8", "20900, 2.9.0", "22304, 2.23.4", "22907, 2.29.7", "23007, 2.30.7"})
    void versionsAreRead(int code, String version) {
        assertEquals(version, NcclVersion.of(code).toString());
    }

    @Test
    @DisplayName("3-03: what a release is too old for is said with both releases")
    void youngerTypesAndReductionsNeedTheirRelease() {
        NcclVersion old = NcclVersion.of(2804);
        NcclVersion young = NcclVersion.of(22809);

        assertEquals(
                "element type BFLOAT16 needs NCCL >= 2.10.0, found 2.8.4",
                NcclDataType.BFLOAT16.unsupportedBecause(old).orElseThrow());
        assertEquals(
                "reduction avg needs NCCL >= 2.10.0, found 2.8.4",
                NcclRedOp.AVG.unsupportedBecause(old).orElseThrow());
        assertTrue(NcclDataType.FLOAT32.unsupportedBecause(old).isEmpty());
        assertTrue(NcclRedOp.MAX.unsupportedBecause(old).isEmpty());
        assertTrue(NcclDataType.FLOAT8_E4M3
                .unsupportedBecause(NcclVersion.of(22302))
                .isPresent());
        for (NcclDataType type : NcclDataType.values()) {
            assertTrue(type.unsupportedBecause(young).isEmpty());
        }
        assertTrue(NcclRedOp.AVG.unsupportedBecause(young).isEmpty());
    }
}
