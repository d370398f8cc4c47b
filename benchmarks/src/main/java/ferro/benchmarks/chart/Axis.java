package ferro.benchmarks.chart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * An axis of a chart.
 *
 * @param caption what the axis shows, with the unit
 * @param logarithmic whether equal factors have equal lengths on the axis
 * @param low smallest value
 * @param high largest value
 * @param ticks labelled values
 */
public record Axis(String caption, boolean logarithmic, double low, double high, List<Tick> ticks) {
    private static final double[] STEPS = {1, 2, 5};
    private static final int DECADES_WITH_STEPS = 2;
    private static final int MAX_TICKS = 7;

    /**
     * A labelled value of an axis.
     *
     * @param value value on the axis that the tick marks
     * @param label text of the tick
     */
    public record Tick(double value, String label) {}

    /**
     * Creates a logarithmic axis with a tick for each given value.
     *
     * @param caption what the axis shows
     * @param ticks ticks by increasing value, at least one
     * @return axis from the first to the last tick
     */
    public static Axis of(String caption, List<Tick> ticks) {
        return new Axis(
                caption, true, ticks.get(0).value(), ticks.get(ticks.size() - 1).value(), ticks);
    }

    /**
     * Creates a logarithmic axis, whose ticks are powers of ten, or 1, 2 and 5 times a power of ten if the values are close.
     *
     * @param caption what the axis shows
     * @param low smallest value, above 0
     * @param high largest value
     * @return axis that includes both values
     */
    public static Axis factors(String caption, double low, double high) {
        boolean fine = Math.log10(high / low) <= DECADES_WITH_STEPS;
        List<Tick> ticks = new ArrayList<>();
        for (int power = (int) Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
            for (double step : STEPS) {
                double value = step * Math.pow(10, power);
                if ((fine || step == 1) && value >= low / 1.0001 && value <= high * 1.0001) {
                    ticks.add(new Tick(value, number(value)));
                }
            }
        }
        return new Axis(caption, true, low / 1.15, high * 1.15, ticks);
    }

    /**
     * Creates a linear axis from 0.
     *
     * @param caption what the axis shows
     * @param high largest value, above 0
     * @return axis with at most seven ticks
     */
    public static Axis linear(String caption, double high) {
        double power = Math.pow(10, Math.floor(Math.log10(high / MAX_TICKS)));
        double step = power;
        for (double factor : new double[] {1, 2, 5, 10}) {
            step = factor * power;
            if (high / step <= MAX_TICKS) {
                break;
            }
        }
        List<Tick> ticks = new ArrayList<>();
        for (int i = 0; i * step <= high * 1.0001; i++) {
            ticks.add(new Tick(i * step, number(i * step)));
        }
        return new Axis(caption, false, 0, high * 1.05, ticks);
    }

    private static String number(double value) {
        return Math.abs(value - Math.rint(value)) < 1e-9 * Math.max(1, value)
                ? String.format(Locale.ROOT, "%,.0f", value)
                : String.format(Locale.ROOT, "%.3f", value).replaceAll("0+$", "");
    }

    /** Returns the coordinate of a value on the axis: its logarithm on a logarithmic axis, else the value itself. */
    double at(double value) {
        return logarithmic ? Math.log10(value) : value;
    }
}
