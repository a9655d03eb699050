/*
 * A program without threads that loads a plugin with some: plugin_host PLUGIN.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	unsigned long (*run)(void) = plugin != NULL ? dlsym(plugin, "plugin_run") : NULL;
	if (run == NULL) {
		fprintf(stderr, "plugin_host: %s\n", argc == 2 ? dlerror() : "give one PLUGIN");
		return 99;
	}
	printf("acquired %lu\n", run());
	return 4;
}
