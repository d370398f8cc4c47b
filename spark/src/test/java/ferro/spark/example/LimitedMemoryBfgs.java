package ferro.spark.example;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;

/**
 * A search for the minimum of a smooth convex function (Nocedal, Wright, Numerical Optimization, algorithms 7.4 and
 * 7.5). The search does not communicate. If the function returns the same bits on all ranks, all ranks find the same
 * point.
 */
final class LimitedMemoryBfgs {
    private static final int MEMORY = 10;
    /** The part of the decrease predicted by the slope that a step must reach. */
    private static final double SUFFICIENT = 1e-4;

    private static final int MAX_HALVINGS = 40;

    private final Function function;
    private final Deque<Change> changes = new ArrayDeque<>();
    private double[] point;
    private double[] gradient;
    private double value;

    /** A function with its gradient. */
    interface Function {
        /** Returns the value at a point, and writes the gradient at this point to the array. */
        double at(double[] point, double[] gradient);
    }

    /** The changes of the point and of the gradient in one step. */
    private record Change(double[] point, double[] gradient, double curvature) {}

    private LimitedMemoryBfgs(Function function, int size) {
        this.function = function;
        point = new double[size];
        gradient = new double[size];
        value = function.at(point, gradient);
    }

    /**
     * Returns a point where no component of the gradient is larger than the tolerance. If no step reaches such a point,
     * returns the point of the last step.
     */
    static double[] minimum(Function function, int size, int maxSteps, double tolerance) {
        LimitedMemoryBfgs search = new LimitedMemoryBfgs(function, size);
        int step = 0;
        while (step < maxSteps && search.steepest() > tolerance && search.advance()) {
            step++;
        }
        return search.point;
    }

    private double steepest() {
        return Arrays.stream(gradient).map(Math::abs).max().orElse(0);
    }

    /** Moves to a lower point. Returns false if the line search finds no lower point. */
    private boolean advance() {
        double[] direction = direction();
        double slope = dot(direction, gradient);
        double[] next = new double[point.length];
        double[] nextGradient = new double[point.length];
        double length = changes.isEmpty() ? 1 / Math.max(1, steepest()) : 1;
        for (int halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
            for (int i = 0; i < next.length; i++) {
                next[i] = point[i] + length * direction[i];
            }
            double nextValue = function.at(next, nextGradient);
            if (nextValue <= value + SUFFICIENT * length * slope) {
                remember(next, nextGradient);
                point = next;
                gradient = nextGradient;
                value = nextValue;
                return true;
            }
        }
        return false;
    }

    private void remember(double[] next, double[] nextGradient) {
        double[] moved = minus(next, point);
        double[] turned = minus(nextGradient, gradient);
        double curvature = dot(moved, turned);
        if (curvature > 0) {
            changes.addFirst(new Change(moved, turned, curvature));
            if (changes.size() > MEMORY) {
                changes.removeLast();
            }
        }
    }

    /**
     * Returns the search direction: the gradient times an estimate of the inverse Hessian, computed from the last
     * changes.
     */
    private double[] direction() {
        double[] way = gradient.clone();
        double[] weights = new double[changes.size()];
        int at = 0;
        for (Change change : changes) {
            weights[at] = dot(change.point(), way) / change.curvature();
            add(way, -weights[at++], change.gradient());
        }
        if (!changes.isEmpty()) {
            Change last = changes.getFirst();
            scale(way, last.curvature() / dot(last.gradient(), last.gradient()));
        }
        for (Iterator<Change> oldest = changes.descendingIterator(); oldest.hasNext(); ) {
            Change change = oldest.next();
            double weight = dot(change.gradient(), way) / change.curvature();
            add(way, weights[--at] - weight, change.point());
        }
        scale(way, -1);
        return way;
    }

    private static double dot(double[] one, double[] other) {
        double sum = 0;
        for (int i = 0; i < one.length; i++) {
            sum += one[i] * other[i];
        }
        return sum;
    }

    private static double[] minus(double[] one, double[] other) {
        double[] difference = one.clone();
        add(difference, -1, other);
        return difference;
    }

    private static void add(double[] to, double factor, double[] more) {
        for (int i = 0; i < to.length; i++) {
            to[i] += factor * more[i];
        }
    }

    private static void scale(double[] vector, double factor) {
        for (int i = 0; i < vector.length; i++) {
            vector[i] *= factor;
        }
    }
}
