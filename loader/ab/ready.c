/*
 * Connects to ports and searches logs.
 */
#include "ready.h"

#include <netdb.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define TCP "tcp:"
#define LOG "log:"

bool ready_is_port(const char *ready)
{
	return strncmp(ready, TCP, strlen(TCP)) == 0;
}

bool ready_is_log(const char *ready)
{
	return strncmp(ready, LOG, strlen(LOG)) == 0;
}

/* "PORT" or "HOST:PORT". False when it is neither. */
static bool split(const char *ready, char host[256], char port[6])
{
	const char *text = ready + strlen(TCP), *colon = strrchr(text, ':');
	const char *number = colon != NULL ? colon + 1 : text;
	size_t length = colon != NULL ? (size_t)(colon - text) : 0;
	if (strlen(number) > 5 || number[0] == '\0' ||
	        number[strspn(number, "0123456789")] != '\0' || atoi(number) < 1 ||
	        atoi(number) > 65535 || length > 255)
		return false;
	snprintf(host, 256, "%.*s", (int)length, length > 0 ? text : "");
	if (length == 0)
		snprintf(host, 256, "127.0.0.1");
	snprintf(port, 6, "%s", number);
	return true;
}

bool ready_check(const char *ready, char why[WHY_SIZE])
{
	char host[256], port[6];
	regex_t regex;
	if (ready_is_port(ready) && !split(ready, host, port)) {
		why_set(why, "--ready %.200s: must be tcp:PORT or tcp:HOST:PORT", ready);
		return false;
	}
	if (!ready_is_log(ready))
		return true;
	int error = regcomp(&regex, ready + strlen(LOG), REG_EXTENDED | REG_NOSUB);
	if (error == 0) {
		regfree(&regex);
		return true;
	}
	char reason[128];
	regerror(error, &regex, reason, sizeof(reason));
	why_set(why, "--ready %.200s: %s", ready, reason);
	return false;
}

bool ready_port_answers(const char *ready)
{
	char host[256], port[6];
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const struct timeval limit = { .tv_sec = 1 };
	struct addrinfo *addresses;
	if (!split(ready, host, port) || getaddrinfo(host, port, &hints, &addresses) != 0)
		return false;
	bool answers = false;
	for (struct addrinfo *at = addresses; at != NULL && !answers; at = at->ai_next) {
		int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		answers = connect(fd, at->ai_addr, at->ai_addrlen) == 0;
		close(fd);
	}
	freeaddrinfo(addresses);
	return answers;
}

bool ready_log_matches(const char *ready, const char *path)
{
	regex_t regex;
	char *line = NULL;
	size_t room = 0;
	bool found = false;
	if (regcomp(&regex, ready + strlen(LOG), REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	FILE *in = fopen(path, "re");
	while (in != NULL && !found && getline(&line, &room, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		found = regexec(&regex, line, 0, NULL, 0) == 0;
	}
	if (in != NULL)
		fclose(in);
	free(line);
	regfree(&regex);
	return found;
}
