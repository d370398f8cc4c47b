/**
 * The look of all charts: colours, dashes, fonts, and labels at the ends of lines.
 *
 * <p>Start at {@link ferro.benchmarks.look.ChartPicture}. {@link ferro.benchmarks.look.Look} reads config/look/look.css, which
 * the pictures of the guide and the timeline of {@code ferro analyze} also use. XChart scales the axes and paints the lines.
 *
 * <p>Nothing in this package measures.
 */
package ferro.benchmarks.look;
