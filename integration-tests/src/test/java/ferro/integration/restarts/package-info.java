/** Jobs of real processes that start again after a failure, on one host and on several. */
package ferro.integration.restarts;
