package ferro.examples.workqueue;

/**
 * The tasks of the work queue. Each task is one square of the complex plane between -2 - 1.25i and 0.5 + 1.25i, and
 * counts those of its 64 points that are in the Mandelbrot set. A point in the set takes 1,000 steps, and a point far
 * from the set only a few.
 */
public final class SquareTask {
    /** Points on each side of a square. */
    private static final int POINTS = 8;

    private static final int STEPS = 1000;

    private SquareTask() {}

    /**
     * Counts the points of a square that are in the set.
     *
     * @param square number of the square, row by row
     * @param side   number of squares on each side of the plane
     * @return 0 to 64
     */
    public static int pointsInSet(int square, int side) {
        double distance = 2.5 / (side * POINTS);
        int count = 0;
        for (int point = 0; point < POINTS * POINTS; point++) {
            int column = square % side * POINTS + point % POINTS;
            int row = square / side * POINTS + point / POINTS;
            count += isInSet(-2 + (column + 0.5) * distance, -1.25 + (row + 0.5) * distance) ? 1 : 0;
        }
        return count;
    }

    private static boolean isInSet(double x, double y) {
        double real = 0;
        double imaginary = 0;
        for (int step = 0; step < STEPS; step++) {
            double next = real * real - imaginary * imaginary + x;
            imaginary = 2 * real * imaginary + y;
            real = next;
            if (real * real + imaginary * imaginary > 4) {
                return false;
            }
        }
        return true;
    }
}
