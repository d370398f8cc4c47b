/** What tests of all modules start: processes, and ranks in this JVM over any medium. */
package ferro.harness;
