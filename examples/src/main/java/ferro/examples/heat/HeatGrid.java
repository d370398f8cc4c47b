package ferro.examples.heat;

import ferro.DataType;
import ferro.HostTensor;
import ferro.MessageStatus;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Heat that spreads over a square plate. Each rank computes one block of the plate, and exchanges the edges of its
 * block with its neighbours in each step. Run the program with {@code ./ferro run -n 4 ferro.examples.heat.HeatGrid}.
 *
 * <p>The array of a rank has one more row or column on each side of its block, the halo. The halo has copies of the
 * neighbours' edges. Outside of the plate, the halo has a fixed temperature.
 */
public final class HeatGrid {
    private static final int NONE = -1;

    /** Cells that a neighbour needs, {@code step} apart. Each is {@code outward} before a cell of the halo. */
    private record EdgeCells(int neighbour, int first, int outward, int step, int count) {}

    private final ProcessGroup group;
    private final int size;
    private final int firstRow;
    private final int firstColumn;
    private final int rows;
    private final int columns;
    private final int width;
    private final List<EdgeCells> edges;
    private double[] cells;

    /** Creates a cold plate of {@code size} times {@code size} cells, with 100 degrees above its upper edge. */
    HeatGrid(ProcessGroup group, int size) {
        this.group = group;
        this.size = size;
        int rank = group.rank();
        int down = (int) Math.sqrt(group.worldSize());
        while (group.worldSize() % down != 0) {
            down--; // to a divisor, so that the blocks are as square as can be
        }
        int across = group.worldSize() / down;
        if (size < across) {
            throw new IllegalArgumentException("need at least " + across + " cells on each side, found " + size);
        }
        int row = rank / across;
        int column = rank % across;
        firstRow = size * row / down;
        firstColumn = size * column / across;
        rows = size * (row + 1) / down - firstRow;
        columns = size * (column + 1) / across - firstColumn;
        width = columns + 2;
        cells = new double[(rows + 2) * width];
        if (row == 0) {
            Arrays.fill(cells, 0, width, 100);
        }
        int first = width + 1; // the upper left cell of the block
        edges = Stream.of(
                        new EdgeCells(row > 0 ? rank - across : NONE, first, -width, 1, columns),
                        new EdgeCells(
                                row < down - 1 ? rank + across : NONE, first + (rows - 1) * width, width, 1, columns),
                        new EdgeCells(column > 0 ? rank - 1 : NONE, first, -1, width, rows),
                        new EdgeCells(column < across - 1 ? rank + 1 : NONE, first + columns - 1, 1, width, rows))
                .filter(edge -> edge.neighbour != NONE)
                .toList();
    }

    /**
     * Computes 2,000 steps on a plate of 60 times 60 cells, and prints the result.
     *
     * @param arguments not used
     */
    public static void main(String[] arguments) {
        int size = 60;
        try (ProcessGroup group = ProcessGroup.join()) {
            double[] plate = new HeatGrid(group, size).run(2000);
            if (group.rank() == 0) {
                double middle = plate[size / 2 * size + size / 2];
                System.out.printf(Locale.ROOT, "middle %.12f, hash of all bits %08x%n", middle, Arrays.hashCode(plate));
            }
        }
    }

    /** Computes steps, and returns the cells of the plate on rank 0, row by row. */
    double[] run(int steps) {
        double[] next = cells.clone(); // with the halo outside of the plate
        for (int step = 0; step < steps; step++) {
            exchange();
            for (int row = 1; row <= rows; row++) {
                for (int i = row * width + 1; i <= row * width + columns; i++) {
                    double around = cells[i - width] + cells[i + width] + cells[i - 1] + cells[i + 1];
                    next[i] = cells[i] + 0.2 * (around - 4 * cells[i]);
                }
            }
            double[] last = cells;
            cells = next;
            next = last;
        }
        return plate();
    }

    // @start region="exchange"
    private void exchange() {
        List<Work> works = new ArrayList<>();
        List<double[]> halos = new ArrayList<>();
        for (EdgeCells edge : edges) {
            double[] halo = new double[edge.count];
            double[] own = new double[edge.count];
            for (int i = 0; i < edge.count; i++) {
                own[i] = cells[edge.first + i * edge.step];
            }
            works.add(group.recvAsync(halo, edge.neighbour, 0));
            works.add(group.sendAsync(own, edge.neighbour, 0));
            halos.add(halo);
        }
        Work.all(works).await();
        for (EdgeCells edge : edges) {
            double[] halo = halos.remove(0);
            for (int i = 0; i < edge.count; i++) {
                cells[edge.first + edge.outward + i * edge.step] = halo[i];
            }
        }
    }
    // @end

    // @start region="plate"
    private double[] plate() {
        List<Work> sent = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            HostTensor own = HostTensor.of(DataType.FLOAT64, cells, (row + 1) * width + 1, columns);
            int index = (firstRow + row) * size + firstColumn; // of the first of these cells in the plate
            sent.add(group.sendAsync(own, 0, index));
        }
        double[] plate = new double[group.rank() == 0 ? size * size : 0];
        double[] received = new double[size];
        for (long left = plate.length; left > 0; ) {
            MessageStatus status =
                    group.recvUpTo(HostTensor.of(received), ProcessGroup.ANY_SOURCE, ProcessGroup.ANY_TAG);
            System.arraycopy(received, 0, plate, status.tag(), (int) status.elements());
            left -= status.elements();
        }
        Work.all(sent).await();
        return plate;
    }
    // @end
}
