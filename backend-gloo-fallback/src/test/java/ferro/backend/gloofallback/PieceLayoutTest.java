package ferro.backend.gloofallback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.group.SystemContext;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How calls are cut: arithmetic only, so that no memory bounds it. */
class PieceLayoutTest {
    private static final long FIVE_GIBI = 5L << 30;

    private static PieceLayout cut(Collective call, int worldSize, String chunk) {
        try (SystemContext context = SystemContext.of(Map.of("ferro.fallback.chunk", chunk))) {
            return PieceLayout.of(call, worldSize, context);
        }
    }

    private static DeviceTensor tensor(DataType type, long elements) {
        return new DeviceTensor(type, new long[] {elements}, 0x1000, 0, null);
    }

    @Test
    void piecesCoverALargeTensorWithoutGapsOrOverlaps() {
        PieceLayout cut = cut(Collective.allReduce(tensor(DataType.FLOAT64, FIVE_GIBI + 3), ReduceOp.SUM), 4, "4MiB");
        long next = 0;
        for (long piece = 0; piece < cut.pieces(); piece++) {
            assertEquals(next, cut.from(piece), "begin of piece " + piece);
            assertTrue(cut.length(piece) > 0, "length of piece " + piece);
            next += cut.length(piece);
        }
        assertEquals(FIVE_GIBI + 3, next, "elements of all pieces");
    }

    @Test
    void allRanksOfARootedCallCutTheSamePieces() {
        DeviceTensor part = tensor(DataType.FLOAT32, 1000);
        PieceLayout root = cut(Collective.gather(part, tensor(DataType.FLOAT32, 3000), 0), 3, "100B");
        assertEquals(root, cut(Collective.gather(part, 0), 3, "100B"));
        assertEquals(8, root.pieceElements(), "elements of each of 3 parts in 100 bytes");
    }

    @Test
    void aPieceHasAtLeastOneElementOfEachPart() {
        DeviceTensor data = tensor(DataType.INT64, 16);
        PieceLayout cut = cut(Collective.allToAll(data, data), 8, "1B");
        assertEquals(1, cut.pieceElements());
        assertEquals(2, cut.pieces());
    }

    @Test
    void aPieceHas32MiBByDefault() {
        DeviceTensor big = tensor(DataType.FLOAT32, FIVE_GIBI);
        try (SystemContext context = SystemContext.of(Map.of())) {
            assertEquals(
                    8L << 20,
                    PieceLayout.of(Collective.allReduce(big, ReduceOp.SUM), 4, context)
                            .pieceElements());
        }
    }

    @Test
    void anEmptyTensorIsOneEmptyPiece() {
        PieceLayout cut = cut(Collective.allReduce(tensor(DataType.INT8, 0), ReduceOp.SUM), 2, "4MiB");
        assertEquals(1, cut.pieces());
        assertEquals(0, cut.length(0));
    }
}
