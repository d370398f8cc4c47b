/**
 * The staged release as a user has it: its files, and projects that depend on it outside of ferro's build. Start at
 * {@link ferro.integration.release.StagedProjectsTest}.
 *
 * <p>Most of these tests need the property {@code ferro.staging}, the folder that {@code mvn -B verify -Prelease} has made. Without
 * the property they are skipped. No test here may install anything into the user's Maven repository.
 */
package ferro.integration.release;
