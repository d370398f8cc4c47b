/**
 * Charts with one theme, which defines colours, dashes, fonts, and labels at the ends of lines.
 *
 * <p>Start at {@link ferro.benchmarks.chart.ChartPicture}. {@link ferro.benchmarks.chart.Theme} reads config/theme/theme.css, which
 * the pictures of the guide and the timeline of {@code ferro analyze} also use. XChart scales the axes and paints the lines.
 *
 * <p>Nothing in this package measures.
 */
package ferro.benchmarks.chart;
